// Says which program installs this artifact.
console.log('holdall install cursor --from ' + import.meta.dirname);
