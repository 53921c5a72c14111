// Nothing to call: what is linked runs when the process starts.
