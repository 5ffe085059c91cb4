"""What crosses between Python and a compiled kernel: structs, options, traces."""
