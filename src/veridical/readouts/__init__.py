"""What a linear readout of hidden states recovers, against nulls, baselines and restricted inputs."""
