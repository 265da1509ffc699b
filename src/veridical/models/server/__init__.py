"""Models behind a server that speaks OpenAI's protocol: `openai/NAME`, with `--base-url` for any other host."""
