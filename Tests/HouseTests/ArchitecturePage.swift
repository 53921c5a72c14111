import Foundation

/// What Documentation/Architecture.md says of folders.
struct ArchitecturePage {
    /// A row of a table of folders.
    struct Row {
        let target: String
        let folder: String
        /// The folders that it depends on; nil in a table that does not say so.
        var lower: Set<String>?
        /// Those in parentheses.
        var upper: Set<String> = []
    }

    let text: String
    private(set) var rows: [Row] = []
    /// The pairs of folders that depend on each other.
    private(set) var circles: Set<Set<String>> = []

    static var folder: URL { House.root.appending(path: "Documentation") }

    init() throws {
        text = try String(contentsOf: Self.folder.appending(path: "Architecture.md"), encoding: .utf8)
        var (heading, isInTable): (Substring, Bool) = ("", false)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("## ") { heading = line.dropFirst(3) }
            if heading == "Circles", line.hasPrefix("- **"), let names = line.split(separator: "**").dropFirst().first {
                circles.insert(Set(names.split(separator: " ").filter { $0 != "and" }.map(String.init)))
            }
            isInTable = line.hasPrefix("| room |") || isInTable && line.hasPrefix("|")
            if isInTable, !line.hasPrefix("| room |"), !line.hasPrefix("|-") { read(line, heading) }
        }
    }

    private mutating func read(_ line: Substring, _ heading: Substring) {
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        // A target without folders has a row of its own.
        guard let first = cells.first, !first.contains("("),
            let own = heading.split(whereSeparator: { $0 == "," || $0 == " " }).first
        else { return }
        let parts = first.components(separatedBy: ": ")
        for folder in (parts.last ?? first).components(separatedBy: ", ") {
            var row = Row(target: parts.count > 1 ? parts[0] : String(own), folder: folder)
            if cells.count > 2 {
                let named = cells[2].components(separatedBy: ", ").filter { $0 != "—" }
                let upper = named.filter { $0.hasPrefix("(") }
                row.upper = Set(upper.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "()")) })
                row.lower = Set(
                    named.filter { !$0.hasPrefix("(") }.map { String($0.prefix { $0 != " " }) })
            }
            rows.append(row)
        }
    }

    /// The paths in the text: of files, below `Sources` or a target, without `.swift`; of folders; and of pages that it
    /// links.
    func paths() throws -> (code: [String], links: [String]) {
        let code = try Regex(#"`([A-Za-z]+/[^` ]+)`"#)
        let link = try Regex(#"\]\(([^)#:]+)\)"#)
        func found(_ pattern: Regex<AnyRegexOutput>) -> [String] {
            text.matches(of: pattern).compactMap { $0.output[1].substring.map(String.init) }
        }
        return (found(code), found(link))
    }
}
