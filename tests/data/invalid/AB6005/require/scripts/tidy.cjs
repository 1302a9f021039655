const x = require("chalk");
