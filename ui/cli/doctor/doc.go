// Package doctor finds problems with the data folder, the engine, the terminal and the kernel, and
// describes how to fix them. It changes nothing.
package doctor
