package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// DashboardOptions say with what the dashboard begins. Zero values begin with the
// sessions.
type DashboardOptions struct {
	Folder string // that the files view begins with
	Name   string // that the cursor is on there
	// Left is told the folder of the files view when the person leaves. The
	// dashboard is then drawn on the terminal itself, and says nothing at its end:
	// standard output is for the answer.
	Left func(folder string)
}

// filesFlags say what `tandem files` does.
type filesFlags struct{ cd, list, hidden, nested bool }

func filesCommand(a *app) *cobra.Command {
	var f filesFlags
	cmd := &cobra.Command{
		Use:   "files [PATH] [--cd] [--list]",
		Short: "Open the dashboard at its files; --cd prints the folder you leave it in",
		Long: "Opens the dashboard at the files of a folder (default: this one), or with the cursor on a file.\n" +
			"--list and --json print what is in the folder instead. With --host they are the files of another\n" +
			"machine, and the default is the home folder there.\n" +
			"With --cd it prints the folder that you leave it in, for a shell function that goes there:\n\n" +
			"  tcd() { local dir; dir=$(tandem files --cd \"$@\") && cd -- \"$dir\"; }      # bash, zsh\n" +
			"  function tcd; set -l dir (tandem files --cd $argv); and cd -- $dir; end   # fish",
		Example: "tandem files ~/src\ncd \"$(tandem files --cd)\"\ntandem --host box files /srv\ntandem files --list --host box /srv",
		Args:    atMost(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.files(cmd, args, f) },
	}
	cmd.Flags().BoolVar(&f.cd, "cd", false, "print the folder that you leave it in")
	cmd.Flags().BoolVarP(&f.list, "list", "l", false, "print what is in the folder; open nothing")
	cmd.Flags().BoolVarP(&f.hidden, "all", "a", false, "with --list: names that begin with a dot too")
	cmd.Flags().BoolVar(&f.nested, "nested", false, "open it in a session of another data folder")
	return cmd
}

func (a *app) files(cmd *cobra.Command, args []string, f filesFlags) error {
	path, err := a.filesPath(args)
	if err != nil {
		return err
	}
	list := f.list || a.out.JSON
	switch {
	case f.cd && list:
		return output.Usagef(cmd, "give --cd or --list, not both")
	case f.cd && a.host() != "":
		return output.Usagef(cmd, "--cd is for a shell on this machine, which cannot go to a folder of %s", a.host())
	case list:
		return a.listFiles(cmd.Context(), path, f.hidden)
	}
	o, err := a.filesAt(cmd.Context(), path)
	if err != nil {
		return err
	}
	if f.cd {
		o.Left = func(folder string) { fmt.Fprintln(a.Stdout, folder) }
	}
	return openDashboard(cmd.Context(), a, o, f.nested)
}

// filesPath is the file or folder that is meant: an absolute path, on another machine one
// below its home folder too.
func (a *app) filesPath(args []string) (string, error) {
	path := ""
	if len(args) > 0 {
		path = args[0]
	}
	if a.host() == "" {
		return a.folder(path)
	}
	if path == "" || path == "~" {
		return "~/", nil
	}
	if strings.HasPrefix(path, "~/") {
		return path, nil
	}
	return a.folder(path)
}

// filesAt is what the files view begins with: a folder, or a file in one.
func (a *app) filesAt(ctx context.Context, path string) (o DashboardOptions, err error) {
	if a.host() == "" {
		return filesHere(path)
	}
	info, err := call(ctx, a, api.FilesStat, api.FilesPathInput{Path: path})
	if err != nil {
		return o, err
	}
	if folder := api.PathOn(a.host(), info.Path); isFolder(info) {
		return DashboardOptions{Folder: folder}, nil
	}
	return DashboardOptions{Folder: api.PathOn(a.host(), filepath.Dir(info.Path)), Name: filepath.Base(info.Path)}, nil
}

func isFolder(info api.FileInfo) bool { return info.Type == "dir" || info.ToDir }

func filesHere(path string) (o DashboardOptions, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o, api.Errorf(api.CodeNotFound, "open files: %s does not exist", output.Visible(path))
	case err != nil:
		return o, fmt.Errorf("open files: %w", err)
	case info.IsDir():
		return DashboardOptions{Folder: path}, nil
	}
	return DashboardOptions{Folder: filepath.Dir(path), Name: filepath.Base(path)}, nil
}

// listFiles prints what is in a folder, or tells of a file.
func (a *app) listFiles(ctx context.Context, path string, hidden bool) error {
	info, err := call(ctx, a, api.FilesStat, api.FilesPathInput{Path: path})
	if err != nil {
		return err
	}
	entries := []api.FileInfo{info}
	if isFolder(info) {
		out, err := call(ctx, a, api.FilesList, api.FilesListInput{Path: path, Hidden: hidden})
		if err != nil {
			return err
		}
		entries = out.Entries
	}
	return output.AnswerList(a.out, entries, "nothing is in "+output.Visible(info.Path), func() string { return fileTable(a.out, entries) })
}

func fileTable(out output.Printer, entries []api.FileInfo) string {
	t := out.Table("MODE", "SIZE", "MODIFIED", "NAME")
	t.Spare = []string{"MODE", "MODIFIED"}
	for _, e := range entries {
		bytes, name, tint := "-", output.Visible(e.Name), output.Plain
		switch e.Type {
		case "file":
			bytes = size(e.Size)
		case "dir":
			name, tint = name+"/", output.Strong
		case "link":
			name += " -> " + output.Visible(e.Target)
		}
		t.Add(output.Text(e.Mode), output.Text(bytes), output.Text(e.Modified.Local().Format("2006-01-02 15:04")), output.Tinted(name, tint))
	}
	return t.String()
}
