"""How anything is read and written: texts and encodings, tables, JSON, YAML, TOML, Parquet, atomic writes."""
