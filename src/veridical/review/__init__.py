"""Human raters: blinded sheets for them to fill in, and how far what they say agrees."""
