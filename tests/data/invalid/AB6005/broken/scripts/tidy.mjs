import from;
