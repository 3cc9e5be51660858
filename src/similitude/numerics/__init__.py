"""What several rooms share: eigendecomposition, top-k, votes, threads, progress."""
