"""Read and write the files of other harnesses; run their tasks."""
