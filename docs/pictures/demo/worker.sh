# Works through a queue for ever, now more, now less.
n=4711
while sleep 0.4; do
	n=$((n + 1))
	i=0
	while [ $i -lt $((n * n % 11 * 6000)) ]; do i=$((i + 1)); done
	echo "order $n: packed"
done
