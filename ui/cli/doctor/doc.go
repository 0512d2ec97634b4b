// Package doctor looks for what is wrong with the data folder, the engine, the
// terminal and the kernel, and says how to mend it. It changes nothing.
package doctor
