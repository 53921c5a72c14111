/// The names in a file outside comments and strings, read line by line as text.
struct CodeNames {
    private(set) var imports: Set<String> = []
    /// The types that are declared at the top level, in conditions or not.
    private(set) var types: Set<String> = []
    /// The functions and variables that extensions declare for other files, by the extended type.
    private(set) var members: [String: Set<String>] = [:]
    /// The names that are declared or bound in any other way: members of types, cases, variables of functions,
    /// parameters, labels.
    private(set) var others: Set<String> = []
    /// All names.
    private(set) var all: Set<String> = []

    /// How deep conditions (`#if`) are nested: what is in them is indented.
    private var conditions = 0
    /// The extension that the line is in.
    private var outer: (type: String, indentation: Int)?
    private var isInText = false

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let content = line.drop { $0 == " " }
            if isInText {
                isInText = !content.hasPrefix("\"\"\"")
            } else if !content.hasPrefix("//") {
                isInText = content.hasSuffix("\"\"\"")
                read(content, indentation: line.utf8.count - content.utf8.count)
            }
        }
    }

    private static let typeKeywords: Set<Substring> = [
        "class", "struct", "enum", "protocol", "actor", "typealias",
    ]
    private static let memberKeywords: Set<Substring> = ["func", "var", "let"]
    private static let bindingKeywords = typeKeywords.union(memberKeywords).union(["case", "for", "associatedtype"])
    private static let modifiers: Set<Substring> = [
        "public", "package", "internal", "final", "static", "mutating", "nonisolated", "lazy", "private", "set",
        "discardableResult", "inline", "never", "__always",
    ]

    private mutating func read(_ content: Substring, indentation: Int) {
        if content.hasPrefix("#if ") { conditions += 1 }
        if content.hasPrefix("#endif") { conditions -= 1 }
        // What is between the quotation marks of a string names nothing.
        let parts = content.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        for part in parts.enumerated() where part.offset.isMultiple(of: 2) {
            let words = Self.words(part.element)
            all.formUnion(words.map { String($0) })
            others.formUnion(Self.bound(words, in: part.element, declares: part.offset > 0))
        }
        let first = Self.words(parts[0])
        if let index = first.firstIndex(of: "import"), first.indices.contains(index + 1), index < 2 {
            imports.insert(String(first[index + 1]))
        }
        if indentation == 4 * conditions, let index = first.firstIndex(where: Self.typeKeywords.contains),
            first.indices.contains(index + 1)
        {
            types.insert(String(first[index + 1]))
        }
        readExtension(content, first, indentation)
    }

    private mutating func readExtension(_ content: Substring, _ words: [Substring], _ indentation: Int) {
        // Conditions are at the level of the extension, or within it.
        let level = indentation - 4 * conditions
        if level == 0, content.hasSuffix("{"), let index = words.firstIndex(of: "extension"), index < 2,
            words.indices.contains(index + 1)
        {
            outer = (String(words[index + 1]), indentation)
        } else if content == "}", indentation == outer?.indentation {
            outer = nil
        } else if level == 4, let type = outer?.type, let index = words.firstIndex(where: Self.memberKeywords.contains),
            words.indices.contains(index + 1), words[..<index].allSatisfy(Self.modifiers.contains),
            content.contains("private(set)") || !words[..<index].contains("private")
        {
            members[type, default: []].insert(String(words[index + 1]))
        } else if let index = words.firstIndex(where: Self.bindingKeywords.contains),
            words.indices.contains(index + 1)
        {
            others.insert(String(words[index + 1]))
        }
    }

    private static func words(_ code: Substring.UTF8View) -> [Substring] {
        code.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
                false
            default: true
            }
        }.map { Substring($0) }
    }

    /// The names that a line binds other than by its first declaration: with a colon, in parentheses, before `in`.
    ///
    /// - Parameters:
    ///   - words: the words.
    ///   - code: the code that they are in, without strings.
    ///   - declares: whether another declaration comes before.
    /// - Returns: the names.
    private static func bound(_ words: [Substring], in code: Substring.UTF8View, declares: Bool) -> Set<String> {
        var bound: Set<String> = []
        // The first declaration may be that of a member.
        var member = declares ? nil : words.firstIndex(where: bindingKeywords.contains)
        if let index = member, !memberKeywords.contains(words[index]) { member = nil }
        for (index, word) in words.enumerated() where index - 1 != member {
            let isLabel = word.endIndex < code.endIndex && code[word.endIndex] == UInt8(ascii: ":")
            let isDeclared = index > 0 && bindingKeywords.contains(words[index - 1])
            if isLabel || isDeclared { bound.insert(String(word)) }
        }
        for (index, word) in words.enumerated() {
            let rest = code[word.endIndex...].drop { $0 == UInt8(ascii: " ") }
            if bindingKeywords.contains(word), rest.first == UInt8(ascii: "(") {
                let tuple = Self.words(rest.prefix { $0 != UInt8(ascii: ")") })
                bound.formUnion(tuple.map { String($0) })
            }
            if word == "in" {
                let start = code[..<word.startIndex].lastIndex(of: UInt8(ascii: "{")) ?? code.startIndex
                bound.formUnion(words[..<index].filter { $0.startIndex >= start }.map { String($0) })
            }
        }
        return bound
    }
}
