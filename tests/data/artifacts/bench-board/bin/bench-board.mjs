#!/usr/bin/env node
// Prints the version.
console.log('0.3.0');
