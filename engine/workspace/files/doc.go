// Package files works on files below a set of root folders: it reads, writes, edits, lists, finds
// and searches them. Nothing outside the roots can be reached, even through links or concurrent
// renames, because every access goes through an os.Root. The package knows nothing of clients and
// processes.
//
// # Links
//
// A symbolic link, relative or absolute, is followed if its target lies below one of the roots and
// refused otherwise, even if the target does not exist yet. Stat, Delete, Move and Copy act on the
// link itself. Links in a path are resolved here one by one; the os.Root then refuses anything
// changed in between.
//
// # Off-limits paths
//
// Tree.OffLimits lists files and folders that nothing may reach, whatever the roots are. They are
// recognized by device and inode, not by path alone: every folder and file is checked after it is
// opened, a folder together with its ancestors. Two things escape: a hard link to a file in an
// off-limits folder, and a mount of one of its subfolders elsewhere.
//
// # Confined threads
//
// The kernel can enforce further limits: with Tree.Confine, every operation runs on threads of its
// own, confined by the caller.
//
// # Git
//
// Git reports the status of a folder without reading the configuration stored there, so that
// looking at a folder runs nothing.
//
// # Writing
//
// A file is written under a temporary name in its folder and then renamed, so that readers see the
// old content or the new, never a part. It keeps its permissions and, if permitted, its owner;
// other hard links keep the old content.
package files
