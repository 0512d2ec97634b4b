// Package setup writes Tandem into the settings of agents' programs, and takes
// it out again. Settings belong to the person: an edit changes the bytes it has
// to and no others, and what was changed is recorded, so that removing gives the
// file as it was. What is asked and printed is the verb's business.
package setup
