// Package machines connects the dashboard to the engines of other machines,
// through its own one: a Set has a connection to each, which follows its events and
// is made again when it is lost, and an Engine over all of them, to which a session
// of machine box is "box/" and its id there. What is asked of a machine that is
// away fails; it waits for none, and asks no other.
package machines
