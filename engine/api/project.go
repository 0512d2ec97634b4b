package api

// A ProjectEntry is the entry of a project file for which a process was started. With it, the file
// can be applied again and undone.
type ProjectEntry struct {
	File    string `json:"file" jsonschema:"absolute path of the project file"`
	Name    string `json:"name" jsonschema:"name of the entry in it"`
	Digest  string `json:"digest,omitempty" jsonschema:"digest of the entry when it was started; a different one means the entry has changed"`
	Project string `json:"project,omitempty" jsonschema:"name of the project when it was started; empty: the folder's name"`
}
