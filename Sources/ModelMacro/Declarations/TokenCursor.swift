/// A place among tokens that goes on by members of a type.
struct TokenCursor {
    private let bytes: [UInt8]
    private let tokens: [Token]
    private var place = 0

    init(_ source: String) {
        bytes = Array(source.utf8)
        tokens = Lexer.tokens(of: source)
    }

    var next: Token? { after(0) }

    func after(_ distance: Int) -> Token? {
        tokens.indices.contains(place + distance) ? tokens[place + distance] : nil
    }

    mutating func advance() { place += 1 }

    // MARK: Attributes and modifiers

    /// An attribute of a declaration.
    struct Attribute: Equatable, Sendable {
        /// The name without its module; `deprecated` for `@available(*, deprecated)`.
        var name: String
        /// The text between the parentheses; nil without these.
        var arguments: String?
    }

    /// Passes over what is before the keyword of a declaration.
    mutating func takeModifiers() -> (modifiers: [String], attributes: [Attribute]) {
        var (modifiers, attributes): ([String], [Attribute]) = ([], [])
        while let token = next {
            if token.isSign("@") {
                advance()
                attributes.append(takeAttribute())
            } else if case .name(isQuoted: false) = token.kind, Keywords.modifiers.contains(token.text),
                !(token.text == "class" && isKeywordOfDeclaration)
            {
                modifiers.append(token.text)
                advance()
                // `private(set)`, `unowned(unsafe)`
                if next?.isSign("(") == true { skipBrackets() }
            } else {
                break
            }
        }
        return (modifiers, attributes)
    }

    /// Passes over what is before the keyword of a type: also over conditions of compilation around its attributes.
    mutating func takeHead() -> [String] {
        var modifiers = takeModifiers().modifiers
        while next?.isSign("#") == true, Keywords.conditions.contains(after(1)?.text ?? "") {
            _ = takeLine()
            modifiers += takeModifiers().modifiers
        }
        return modifiers
    }

    /// Whether `class` begins a class here: its name follows.
    private var isKeywordOfDeclaration: Bool {
        guard let name = after(1)?.name else { return false }
        return !Keywords.declarations.contains(name) && !Keywords.modifiers.contains(name)
    }

    private mutating func takeAttribute() -> Attribute {
        var name = next?.name ?? ""
        advance()
        // `SwiftData.Attribute`, or with a module selector `SwiftData::Attribute`.
        while true {
            let signs =
                next?.isSign(".") == true ? 1 : next?.isSign(":") == true && after(1)?.isSign(":") == true ? 2 : 0
            guard signs > 0, let part = after(signs)?.name else { break }
            name = part
            place += signs + 1
        }
        if next?.isSign("<") == true { skipAngles() }
        // Arguments follow on the same line; a parenthesis on the next one is something else.
        guard let token = next, token.isSign("("), !token.startsLine else { return Attribute(name: name) }
        let start = place
        skipBrackets()
        let isDeprecation = name == "available" && tokens[start..<place].contains { $0.name == "deprecated" }
        return Attribute(name: isDeprecation ? "deprecated" : name, arguments: text(from: start + 1, to: place - 1))
    }

    // MARK: Text

    /// The index of the next token.
    var index: Int { place }

    /// The source from one token up to another, which is left out, without blanks and comments around it.
    func text(from start: Int, to end: Int) -> String {
        guard start < end, end <= tokens.count else { return "" }
        let (first, last) = (tokens[start], tokens[end - 1])
        return String(decoding: bytes[first.offset..<last.offset + last.length], as: UTF8.self)
    }

    /// Passes over the rest of a line, and gives its text.
    mutating func takeLine() -> String {
        let start = place
        repeat { advance() } while next.map { !$0.startsLine } ?? false
        return text(from: start, to: place)
    }

    /// Passes over a freestanding macro after its number sign, `Index<Book>([\.title])`.
    ///
    /// - Returns: its name, and its text with the name.
    mutating func takeMacro() -> (name: String, text: String) {
        let start = place
        let name = next?.name ?? ""
        advance()
        if next?.isSign("<") == true { skipAngles() }
        if next?.isSign("(") == true { skipBrackets() }
        return (name, text(from: start, to: place))
    }

    // MARK: Brackets

    /// Passes over a bracket and all that it encloses.
    mutating func skipBrackets() {
        var depth = 0
        while let token = next {
            advance()
            if case .sign = token.kind {
                if "([{".contains(token.text) { depth += 1 }
                if ")]}".contains(token.text) { depth -= 1 }
                if depth <= 0 { return }
            }
        }
    }

    /// Passes over what stands between `init` and its body.
    ///
    /// - Returns: whether the initializer throws, or makes an optional.
    mutating func takeFailure() -> Bool {
        var fails = false
        while let token = next, !token.isSign("{"), !token.isSign("}") {
            if token.isSign("?") || token.isSign("!") || token.name == "throws" || token.name == "rethrows" {
                fails = true
            }
            if token.isSign("(") { skipBrackets() } else { advance() }
        }
        return fails
    }

    private mutating func skipAngles() {
        var depth = 0
        while let token = next {
            if token.isSign("<") { depth += 1 }
            if token.isSign(">") { depth -= 1 }
            if case .sign = token.kind, "([{".contains(token.text) { skipBrackets() } else { advance() }
            if depth <= 0 { return }
        }
    }

    /// Passes over the arguments of a generic type in a value, which follow its name directly; a comparison stays.
    private mutating func skipArguments() -> Bool {
        guard next?.isSign("<") == true, place > 0, tokens[place - 1].name != nil,
            tokens[place - 1].offset + tokens[place - 1].length == tokens[place].offset
        else { return false }
        var depth = 0
        for end in place..<tokens.count {
            if case .sign = tokens[end].kind, !Self.signsOfTypes.contains(tokens[end].text) { return false }
            if tokens[end].isSign("<") { depth += 1 }
            if tokens[end].isSign(">") { depth -= 1 }
            if depth == 0 {
                place = end + 1
                return true
            }
        }
        return false
    }

    private static let signsOfTypes: Set = ["<", ">", "[", "]", "(", ")", ":", ",", ".", "?", "!", "&", "@", "->"]

    // MARK: Members

    /// Whether another member begins here, or the type ends.
    private var isAtEndOfMember: Bool {
        guard let token = next else { return true }
        if token.isSign("}") || token.isSign(";") { return true }
        // What follows `=` on the next line is a value, such as `#Predicate`.
        guard token.startsLine, place == 0 || !tokens[place - 1].isSign("=") else { return false }
        if token.isSign("@") || token.isSign("#") { return true }
        guard case .name(isQuoted: false) = token.kind else { return false }
        return Keywords.declarations.contains(token.text) || Keywords.modifiers.contains(token.text)
    }

    /// Passes over the rest of a member.
    mutating func skipMember() {
        while !isAtEndOfMember { step() }
        if next?.isSign(";") == true { advance() }
    }

    private mutating func step() {
        if let token = next, case .sign = token.kind, "([{".contains(token.text) { skipBrackets() } else { advance() }
    }

    /// The rest of a property after its name.
    struct PropertyForm {
        /// The type, as it is written.
        var type: String?
        /// The initial value, as it is written; nil if there is none.
        var value: String?
        var hasValue: Bool { value != nil }
        var isComputed = false
        var isObserved = false
        /// Whether a comma and another property come next.
        var isFollowed = false
    }

    /// Passes over the rest of a property, up to the next one.
    mutating func takeProperty() -> PropertyForm {
        var form = PropertyForm()
        if next?.isSign(":") == true {
            advance()
            form.type = takeType()
        }
        var start = place
        while !isAtEndOfMember {
            guard let token = next else { return form }
            if token.isSign("="), !form.hasValue {
                form.value = ""
                start = place + 1
            } else if token.isSign("{"), isBlockOfObservers {
                form.isObserved = true
                if form.hasValue { form.value = text(from: start, to: place) }
            } else if token.isSign("{"), !form.hasValue {
                form.isComputed = true
            } else if isAtNextProperty {
                if form.hasValue, !form.isObserved { form.value = text(from: start, to: place) }
                advance()
                form.isFollowed = true
                return form
            } else if form.hasValue, skipArguments() {
                continue
            }
            step()
        }
        if form.hasValue, !form.isObserved { form.value = text(from: start, to: place) }
        if next?.isSign(";") == true { advance() }
        return form
    }

    /// Passes over a type, and gives its text; nil for one of which the compiler finds out a part: `some P`, `Set<_>`.
    private mutating func takeType() -> String? {
        let start = place
        while !isAtEndOfMember, let token = next {
            if token.isSign("=") || token.isSign("{") || isAtNextProperty { break }
            if token.isSign("<") { skipAngles() } else { step() }
        }
        guard place > start, !tokens[start..<place].contains(where: \.isOpenType) else { return nil }
        let (first, last) = (tokens[start], tokens[place - 1])
        return String(decoding: bytes[first.offset..<last.offset + last.length], as: UTF8.self)
    }

    /// Whether a comma is here, and another property comes next.
    private var isAtNextProperty: Bool {
        next?.isSign(",") == true && after(1)?.name != nil && beginsProperty(after(2))
    }

    /// Whether the block here observes a stored property, which a computed one's does not.
    private var isBlockOfObservers: Bool {
        var inside = self
        inside.advance()
        _ = inside.takeModifiers()
        return inside.next.map { Keywords.observers.contains($0.text) } ?? false
    }

    /// Whether this is what may follow the name of a property.
    private func beginsProperty(_ token: Token?) -> Bool {
        guard let token else { return false }
        return token.isSign(":") || token.isSign("=") || token.isSign(",") || token.isSign("{")
    }
}
