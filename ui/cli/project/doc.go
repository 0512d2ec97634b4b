// Package project reads project files: the sessions and processes to run in a folder, their order,
// and the layout of the terminals. It supports tandem.yaml, Procfiles, process-compose files and
// the scripts of a package.json, and orders entries by their dependencies. A Plan compares a file
// with the existing processes, a Run carries it out, and StopAll stops its processes.
package project
