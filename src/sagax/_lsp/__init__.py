"""Serve editors by the language server protocol: `sagax lsp`.

`server` answers requests, `diffs` turns diffs into edits, `programs` runs scripts in processes of their own,
`compilations` is what runs there to see which functions compile. Needs pygls: `pip install 'sagax[lsp]'`.
"""
