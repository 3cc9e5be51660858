"""The proximity matrix itself: checks, maps between similarity and dissimilarity, symmetry, embedding, splitting."""
