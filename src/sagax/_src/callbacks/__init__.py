"""Call Python and native functions from running programs."""
