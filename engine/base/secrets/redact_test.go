package secrets

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestRedactLineReplacesSecrets(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	for line, want := range map[string]string{
		"API_TOKEN=abc123 make":                                                            "API_TOKEN=*** make",
		"export DB_PASSWORD='a b c' X=1":                                                   "export DB_PASSWORD='***' X=1",
		`AWS_SECRET_ACCESS_KEY="a\"b" aws s3 ls`:                                           `AWS_SECRET_ACCESS_KEY="***" aws s3 ls`,
		"env A=1 my.secret=x;ls":                                                           "env A=1 my.secret=***;ls",
		"PASSWORD=a'b c'\"d\"e ls":                                                         "PASSWORD=*** ls",
		"mysql --password hunter2 db":                                                      "mysql --password *** db",
		"mysql --password=hunter2 db":                                                      "mysql --password=*** db",
		"tool --api-key 'k e y' --verbose":                                                 "tool --api-key '***' --verbose",
		"tool -token=abc --client-secret s":                                                "tool -token=*** --client-secret ***",
		"curl -H 'Authorization: Bearer abc.def' u":                                        "curl -H 'Authorization: Bearer ***' u",
		`curl -H "authorization: Basic dTpw" u`:                                            `curl -H "authorization: Basic ***" u`,
		"curl -H 'X-Api-Key: abc' u":                                                       "curl -H 'X-Api-Key: ***' u",
		"curl -u me:pw https://h":                                                          "curl -u me:*** https://h",
		"curl -sS --user 'me:pw' https://h":                                                "curl -sS --user 'me:***' https://h",
		`curl -d '{"password": "p w", "user": "me"}' u`:                                    `curl -d '{"password": "***", "user": "me"}' u`,
		"curl 'https://h/?a=1&access_token=abc&b=2'":                                       "curl 'https://h/?a=1&access_token=***&b=2'",
		"git clone https://me:pw@host/x.git":                                               "git clone https://me:***@host/x.git",
		"psql postgres://u:p%40ss@db:5432/x":                                               "psql postgres://u:***@db:5432/x",
		"redis-cli -u redis://:pw@h":                                                       "redis-cli -u redis://:***@h",
		"echo " + token + " | gh auth login":                                               "echo *** | gh auth login",
		"git clone https://" + token + "@github.com/x":                                     "git clone https://***@github.com/x",
		"aws configure set k AKIAIOSFODNN7EXAMPLE":                                         "aws configure set k ***",
		"use sk-proj-abcdefghijklmnop1234":                                                 "use ***",
		"sshpass -p hunter2 ssh h":                                                         "sshpass -p *** ssh h",
		"openssl rsa -passin pass:hunter2 -in k":                                           "openssl rsa -passin pass:*** -in k",
		"printf '-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----' > k": "printf '-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----' > k",
		"A_KEY=1 B_KEY=2 run":                                                              "A_KEY=*** B_KEY=*** run",
		"A=1\nB_TOKEN=2\nC=3":                                                              "A=1\nB_TOKEN=***\nC=3",
		"sh -c 'TOKEN=abc go'":                                                             "sh -c 'TOKEN=*** go'",
	} {
		if got := RedactLine(line); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
		if got := RedactLine(want); got != want {
			t.Errorf("%s is changed again, to %s", want, got)
		}
	}
}

func TestRedactLineReplacesSecretsOfPrograms(t *testing.T) {
	for line, want := range map[string]string{
		"mysql -psecret db":                                   "mysql -p*** db",
		"mysql -u root -p'a b' -e 'a;b' db":                   "mysql -u root -p'***' -e 'a;b' db",
		"mysql -e 'a;b' -psecret":                             "mysql -e 'a;b' -p***",
		"ls;/usr/bin/mysqldump -uroot -psecret db > f":        "ls;/usr/bin/mysqldump -uroot -p*** db > f",
		"x=$(mariadb -h h -psecret)":                          "x=$(mariadb -h h -p***)",
		"mariadb-dump -psecret db":                            "mariadb-dump -p*** db",
		"htpasswd -b f me secret":                             "htpasswd -b f me ***",
		"htpasswd -bc f me secret 2>e":                        "htpasswd -bc f me *** 2>e",
		"htpasswd -nbB me 'a b' | tee f":                      "htpasswd -nbB me '***' | tee f",
		"echo secret | sudo -S ls":                            "echo *** | sudo -S ls",
		"echo -n 'a b'|sudo -kS ls":                           "echo -n '***'|sudo -kS ls",
		"printf '%s\\n' secret | /usr/bin/sudo --stdin -u x":  "printf '%s\\n' *** | /usr/bin/sudo --stdin -u x",
		"sudo -S ls <<< secret":                               "sudo -S ls <<< ***",
		"sudo -u x -S ls <<<\"a b\"":                          "sudo -u x -S ls <<<\"***\"",
		"aws configure set aws_secret_access_key secret":      "aws configure set aws_secret_access_key ***",
		"aws --profile x configure set aws_session_token 'a'": "aws --profile x configure set aws_session_token '***'",
		"curl -sSu me:pw https://h":                           "curl -sSu me:*** https://h",
		"curl --oauth2-bearer abc u":                          "curl --oauth2-bearer *** u",
		"sshpass -psecret ssh h":                              "sshpass -p*** ssh h",
		"docker login -u me -p secret h":                      "docker login -u me -p *** h",
		"podman login -psecret h":                             "podman login -p*** h",
		"helm registry login h -p secret":                     "helm registry login h -p ***",
		"openssl x -in f -passout pass:secret":                "openssl x -in f -passout pass:***",
		"redis-cli -h h -a secret ping":                       "redis-cli -h h -a *** ping",
		"PGPASSWORD=secret psql -h h":                         "PGPASSWORD=*** psql -h h",
		"curl -H \"Authorization: Bearer abc\" u":             "curl -H \"Authorization: Bearer ***\" u",
		"ssh h \"mysql -psecret db\"":                         "ssh h \"mysql -p*** db\"",
	} {
		if got := RedactLine(line); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
		if got := RedactLine(want); got != want {
			t.Errorf("%s is changed again, to %s", want, got)
		}
	}
}

func TestRedactLineKeepsSameOptionOfOtherPrograms(t *testing.T) {
	for _, line := range []string{
		"mkdir -p dir", "mkdir -pv dir", "cp -pr a b", "ssh -p 22 h", "scp -P22 a h:b", "tar -pxf x.tar", "docker run -p 80:80 x", "docker run -p80:80 x", "ps -p 1",
		"mysql -p db", "mysql -u root -P3306 --port=3306 db", "mysql --protocol=tcp", "man mysql; mkdir -pdir", "mysql < f; cp -pr a b", "redis-cli -p 6379 ping", "grep -a x redis-cli",
		"htpasswd f me", "htpasswd -c f me", "echo hi | sudo tee f", "echo hi | sudo -s", "echo $PW | sudo -S ls", "echo \"$PW\" | sudo -S ls", "sudo -s ls <<< x", "echo a; sudo -S ls",
		"aws configure set region eu", "aws s3 ls", "docker login -u me h", "docker login --password-stdin h", "podman ps -p x", "az login -p", "curl -o out:x -sS https://h", "curl -u me h",
		"sshpass -f file ssh -p 22 h", "sshpass -e ssh h", "openssl x -passin env:P -in f", "login -p me", "git log -p -a", "rsync -a x y", "git log -p mysql/dir",
	} {
		if got := RedactLine(line); got != line {
			t.Errorf("%s became %s", line, got)
		}
		if argv := strings.Fields(line); !cmp.Equal(argv, RedactArgv(argv)) && !strings.ContainsAny(line, "|;<$") {
			t.Errorf("%q became %q", argv, RedactArgv(argv))
		}
	}
}

func TestRedactArgvReplacesSecretsOfPrograms(t *testing.T) {
	for _, c := range [][2][]string{
		{{"mysql", "-u", "root", "-psecret;a b", "db"}, {"mysql", "-u", "root", "-p***", "db"}},
		{{"/usr/bin/curl", "-u", "me:pä ss", "h"}, {"/usr/bin/curl", "-u", "me:***", "h"}},
		{{"htpasswd", "-b", "f", "me", "$x y"}, {"htpasswd", "-b", "f", "me", "***"}},
		{{"sudo", "redis-cli", "-a", "secret"}, {"sudo", "redis-cli", "-a", "***"}},
		{{"docker", "login", "-p", "secret", "h"}, {"docker", "login", "-p", "***", "h"}},
		{{"aws", "configure", "set", "aws_secret_access_key", "secret"}, {"aws", "configure", "set", "aws_secret_access_key", "***"}},
		{{"sh", "-c", "mysql -psecret"}, {"sh", "-c", "mysql -p***"}},
	} {
		if diff := cmp.Diff(c[1], RedactArgv(c[0])); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRedactLineKeepsOtherText(t *testing.T) {
	for _, line := range []string{
		"", "ls -la", "git commit -m 'Add tokens to the parser'", "TOKEN=$TOKEN make", `API_KEY="$(pass show x)" run`, "TOKEN=`cat t` run",
		"PASSWORD= make", "docker run -u 1000:1000 x", "ssh-keygen -t ed25519 -f key", "sort -k 2 --key=1,2 f", "apt-key list",
		"curl https://host:8080/path@x", "docker login --password-stdin reg", "cd $OLDPWD", "PWD=/x make", "GIT_AUTHOR_NAME=me git commit",
		"gpg --keyserver hkps://keys.openpgp.org --recv 1", "tool --token-file /run/t", "kubectl get secret -n x", "python -m keyring get a b",
		"scp host:file .", "echo 'a: b'", "tool --password --verbose",
	} {
		if got := RedactLine(line); got != line {
			t.Errorf("%s became %s", line, got)
		}
	}
}

func TestRedactArgvReplacesSecrets(t *testing.T) {
	argv := []string{"tool", "--password", "a b", "--token=x y", "-v", "--secret", "--next", "sh", "-c", "KEY_ID=1 run --api-key z"}
	want := []string{"tool", "--password", "***", "--token=***", "-v", "--secret", "--next", "sh", "-c", "KEY_ID=*** run --api-key ***"}
	given := append([]string{}, argv...)
	if diff := cmp.Diff(want, RedactArgv(argv)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(given, argv); diff != "" {
		t.Errorf("what was given changed: %s", diff)
	}
	if got := RedactArgv(nil); got != nil {
		t.Errorf("of nothing: %q", got)
	}
}

func TestSecretNamesAreRecognised(t *testing.T) {
	for name, want := range map[string]bool{
		"API_KEY": true, "OPENAI_APIKEY": true, "KEYBOARD": true, "GITHUB_TOKEN": true, "db_password": true, "AWS_CREDENTIALS": true,
		"CLIENT_SECRET": true, "MYSQL_PWD": true, "SMTP_PASS": true, "NPM_AUTH": true, "PASSPHRASE": true,
		"PATH": false, "PWD": false, "OLDPWD": false, "GIT_AUTHOR_NAME": false, "GOPRIVATE": false, "COMPASS": false, "HOME": false,
	} {
		if IsSecretName(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestRedactAttrKeepsSecretsOutOfLog(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: RedactAttr}))
	log.Info("start http://u:hunter2@h", "error", errors.New("run --password hunter2"), "command", "A_KEY=hunter2 x", "n", 5)
	if strings.Contains(b.String(), "hunter2") || !strings.Contains(b.String(), "n=5") {
		t.Error(b.String())
	}
}

func FuzzRedactLine(f *testing.F) {
	for _, seed := range []string{"A_TOKEN=x", "--password 'a", "u://a:b@c", `"key": "v"`, "Authorization: Bearer x", "KEY=\"***", "sk-0123456789abcdef", "token=token=token=", "mysql -pa 'b", "echo a | sudo -S b <<<c", "htpasswd -b a b c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		once := RedactLine(line)
		if utf8.ValidString(line) && !utf8.ValidString(once) {
			t.Fatalf("%q became %q, which is no UTF-8", line, once)
		}
		if twice := RedactLine(once); twice != once {
			t.Fatalf("%q became %q, and that %q", line, once, twice)
		}
		const secret = "hunter2hunter2"
		RedactArgv(strings.Fields(line))
		RedactArgv([]string{"mysql", line, "-p" + line})
		if got := RedactLine(line + "\nX_TOKEN=" + secret); !strings.ContainsAny(line, "\"'`$\\") && strings.Contains(got, secret) {
			t.Fatalf("a secret is left behind %q: %q", line, got)
		}
	})
}

func TestRedactLineReplacesOpensslAndMinioKeys(t *testing.T) {
	for line, want := range map[string]string{
		"openssl enc -k hunter2 -in a":                            "openssl enc -k *** -in a",
		"openssl aes-256-cbc -d -pbkdf2 -k 'a b' -in x":           "openssl aes-256-cbc -d -pbkdf2 -k '***' -in x",
		"openssl enc -aes-256-cbc -K 00ff -iv 11":                 "openssl enc -aes-256-cbc -K *** -iv 11",
		"openssl enc -k $PASS -in a":                              "openssl enc -k $PASS -in a",
		"openssl req -newkey rsa:2048 -keyout k":                  "openssl req -newkey rsa:2048 -keyout k",
		"openssl x509 -in k -noout; ls -k x":                      "openssl x509 -in k -noout; ls -k x",
		"mc alias set x https://h:9000 user secret":               "mc alias set x https://h:9000 user ***",
		"mc --insecure alias set x http://h 'u' 's t' --api S3v4": "mc --insecure alias set x http://h 'u' '***' --api S3v4",
		"/usr/bin/mcli alias s x http://h u s":                    "/usr/bin/mcli alias s x http://h u ***",
		"mc config host add x http://h u s":                       "mc config host add x http://h u ***",
		"mc alias list x":                                         "mc alias list x",
		"mc alias set x http://h":                                 "mc alias set x http://h",
	} {
		if got := RedactLine(line); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
		if got := RedactLine(want); got != want {
			t.Errorf("%s is changed again, to %s", want, got)
		}
	}
}
