package engine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/engine/api"
)

// A folderModes lists the folders that are closed to other users, with the access that others may
// have nevertheless. The folders are checked because a sandbox does not stop a program from
// changing modes.
type folderModes map[string]fs.FileMode // the access of other users that a folder may have

// folderModes returns the folders to keep closed. The folder of the configuration may stay readable
// for others if it is so now.
func (o Options) folderModes() folderModes {
	modes := folderModes{}
	for _, dir := range api.ClosedFolders(o.DataDir, o.Policy) {
		modes[dir] = 0
	}
	if dir := filepath.Dir(o.Policy); o.Policy != "" {
		if info, err := os.Stat(dir); err == nil {
			modes[dir] = info.Mode().Perm() & 0o055
		}
	}
	return modes
}

// restore removes access that others should not have from the folders, and tells the user.
func (m folderModes) restore(tell func(text string)) {
	for dir, accepted := range m {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o077&^accepted == 0 {
			continue
		}
		result := "it is closed again"
		if err := os.Chmod(dir, 0o700); err != nil {
			result = fmt.Sprintf("closing it failed: %v", err)
		}
		tell(fmt.Sprintf("the folder %s was open to other users (mode %04o); %s", dir, info.Mode().Perm(), result))
	}
}
