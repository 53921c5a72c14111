import Foundation

/// A request of the compiler to a macro, as JSON. Unknown fields are ignored.
package struct CompilerMessage: Decodable, Sendable {
    package var getCapability: Empty?
    package var expandAttachedMacro: Attached?

    package struct Empty: Decodable, Sendable {}

    package struct Attached: Decodable, Sendable {
        package var macro: Macro
        package var declSyntax: Syntax
        package var attributeSyntax: Syntax?
        package var extendedTypeSyntax: Syntax?
        package var conformanceListSyntax: Syntax?
    }

    package struct Macro: Decodable, Sendable {
        package var name: String
    }

    package struct Syntax: Decodable, Sendable {
        package var source: String
        package var location: Location?
    }

    package struct Location: Decodable, Sendable {
        package var fileName: String
        package var offset: Int
    }
}

/// The answer of a macro.
package struct CompilerAnswer: Encodable, Equatable, Sendable {
    package var getCapabilityResult: CapabilityResult?
    package var expandMacroResult: ExpansionResult?

    package struct CapabilityResult: Encodable, Equatable, Sendable {
        package var capability = Capability()
    }

    package struct Capability: Encodable, Equatable, Sendable {
        /// The version of the protocol of messages in which declarations come as text.
        package var protocolVersion = 7
    }

    package struct ExpansionResult: Encodable, Equatable, Sendable {
        package var expandedSource: String?
        package var diagnostics: [Diagnostic] = []
    }

    package struct Diagnostic: Encodable, Equatable, Sendable {
        package var message: String
        package var severity = "error"
        package var position: Position
        package var highlights: [String] = []
        package var notes: [String] = []
        package var fixIts: [String] = []
    }

    package struct Position: Encodable, Equatable, Sendable {
        package var fileName: String
        package var offset: Int
    }
}

extension CompilerMessage {
    /// The answer to it.
    package var answer: CompilerAnswer {
        if getCapability != nil { return CompilerAnswer(getCapabilityResult: CompilerAnswer.CapabilityResult()) }
        guard let attached = expandAttachedMacro else {
            return CompilerAnswer(expandMacroResult: CompilerAnswer.ExpansionResult(expandedSource: nil))
        }
        let declaration = DeclarationParser.declaration(in: attached.declSyntax.source)
        let type = attached.extendedTypeSyntax.map { Self.trimmed($0.source) } ?? declaration.name
        let expansion = CoreModelExpansion(of: declaration, named: type, conformances: attached.conformances)
        var result = CompilerAnswer.ExpansionResult(expandedSource: expansion.source)
        if let problem = expansion.problem {
            result.diagnostics = [CompilerAnswer.Diagnostic(message: problem, position: attached.position)]
        }
        return CompilerAnswer(expandMacroResult: result)
    }

    private static func trimmed(_ text: String) -> String {
        let words = Lexer.tokens(of: text)
        guard let first = words.first, let last = words.last else { return text }
        let bytes = Array(text.utf8)
        return String(decoding: bytes[first.offset..<min(last.offset + last.length, bytes.count)], as: UTF8.self)
    }
}

extension CompilerMessage.Attached {
    /// The protocols that the type lacks: the compiler sends `struct Placeholder: CoreModel {}`.
    fileprivate var conformances: [String] {
        guard let list = conformanceListSyntax else { return [] }
        let tokens = Lexer.tokens(of: list.source)
        guard let colon = tokens.firstIndex(where: { $0.isSign(":") }) else { return [] }
        return tokens[colon...].compactMap(\.name)
    }

    /// The position of the attribute, at which problems are shown.
    fileprivate var position: CompilerAnswer.Position {
        let place = attributeSyntax ?? declSyntax
        let blanks = Lexer.tokens(of: place.source).first?.offset ?? 0
        return CompilerAnswer.Position(
            fileName: place.location?.fileName ?? "", offset: (place.location?.offset ?? 0) + blanks)
    }
}
