"""Word texts in other languages: a catalogue for each, keyed by English templates, loaded on first use."""
