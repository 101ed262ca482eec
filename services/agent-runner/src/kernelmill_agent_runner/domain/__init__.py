"""What the agents decide: design spaces, rewrites of marked loops, the search. Chance comes in as a generator."""
