import pad from "left-pad";
console.log(pad("x", 3));
