// Package files works on files below a set of root folders: it reads, writes,
// edits, lists, finds and searches them. What lies outside the roots cannot be
// reached, whatever links lead there and whoever renames what meanwhile: every
// access goes through an os.Root. It knows nothing of clients and processes.
//
// # Links
//
// A symbolic link is followed, absolute or not, if what it leads to lies below
// one of the roots, and refused if not, even if nothing is there yet. Stat,
// Delete, Move and Copy mean the link itself. Links on the way are looked up
// one by one here; the os.Root then refuses what was changed in between.
//
// # What is closed
//
// A tree can hold folders that nothing may reach, whatever its roots are. They
// are known by what they are, not by their paths alone: every folder and file is
// looked at when it is open, a folder with all above it. Not known are a hard
// link to a file in such a folder and a mount, elsewhere, of a folder below it.
//
// # Confined threads
//
// What an operation may do can also be up to the kernel: it is then done on
// threads of its own, which the caller has confined.
//
// # Git
//
// Git is asked about a folder without letting it read the configuration that
// lies there, so that looking at a folder runs nothing.
//
// # Writing
//
// A file is written beside its place and then renamed to it, so that it is there
// as a whole or as it was. Its permissions and, where that is allowed, its owner
// stay; other hard links keep the old content.
package files
