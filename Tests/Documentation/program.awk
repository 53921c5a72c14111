# The Swift code of a page as one program: declarations as they are, the later one of two with the same first line; statements as the body
# of a function page(). Blocks of a Package.swift are left out, and so is one that follows "<!-- needs ... -->".

/^<!-- needs .* -->$/ { announced = 1 }
/^```/ {
    if (inside) finish()
    inside = !inside
    if (inside) { foreign = announced || !/^```(swift)?$/; announced = 0 }
    next
}
!inside || foreign { next }
# A line at the margin begins a chunk, unless it closes one.
/^[^ \t})\]]/ { if (!comment) finish() }
{ chunk = chunk $0 "\n"; comment = /^\/\// }
function finish(   first, lines, count, line, key) {
    count = split(chunk, lines, "\n")
    first = ""
    for (line = 1; line <= count; line++) if (lines[line] !~ /^(\/\/.*|[ \t]*)$/) { first = lines[line]; break }
    if (first ~ /swift-tools-version|^import PackageDescription|^let package|^dependencies:|^targets:|^\.executableTarget/) first = ""
    else if (first ~ /^import /) imports = imports first "\n"
    else if (first ~ /^(@[A-Za-z]+ ?)*((public|final) )*(struct|class|enum|actor|protocol|extension|func) / || first ~ /^@main/) {
        key = first
        if (!(key in declarations)) order[++total] = key
        declarations[key] = chunk
    } else if (first != "") statements = statements chunk
    chunk = ""
}
END {
    printf "%s", imports
    for (line = 1; line <= total; line++) printf "%s\n", declarations[order[line]]
    if (statements != "") printf "func page() async throws {\n%s}\n", statements
}
