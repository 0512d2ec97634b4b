package engine

import (
	"path/filepath"

	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/persist/store"
)

const (
	mostProjectFile = 4096 // bytes of a path
	mostDigest      = 128  // bytes
)

// setProject notes in a new record which entry of a project file it is for.
func setProject(r *store.Record, in *api.ProjectEntry) error {
	if in == nil {
		return nil
	}
	wrong := func(why string) error {
		return api.Errorf(api.CodeInvalid, "start process: project file %s: %s", names.Shown(in.File), why)
	}
	switch {
	case !filepath.IsAbs(in.File):
		return wrong("its path is not absolute")
	case len(in.File) > mostProjectFile:
		return wrong("its path is too long")
	case names.Check(in.Name) != nil:
		return wrong("the entry has no name that could be shown")
	case len(in.Digest) > mostDigest:
		return wrong("the digest is too long")
	}
	entry := store.Project(*in)
	r.Project = &entry
	return nil
}
