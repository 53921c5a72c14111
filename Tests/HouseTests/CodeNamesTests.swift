import Testing

@Suite("The names in a file's code")
struct CodeNamesTests {
    private let names = CodeNames(
        #"""
        package import Lower

        // extension Comment { func inComment() }
        final class Shell {
            var state = 0
        }

        extension Shell {
            /// Opens it.
            package func open(_ place: Place, by hand: Bool) throws { if let found = find(place) { use(found) } }

            static var isThere: Bool { true }
            private(set) var count: Int { 0 }
            private func inner() {}
            fileprivate var hidden: Int { 1 }
            #if os(Linux)
                func closed() { for (key, value) in pairs { print("func quoted() \(key)") } }
            #endif

            func each() { work { first, second in first(second) } }
        }

        #if DEBUG
            struct InCondition { func method() {} }
            extension InCondition { var another: Int { 2 } }
        #endif

        let text = """
            func inText()
            """
        """#)

    @Test("are imports, types, and members of extensions")
    func declarations() {
        #expect(names.imports == ["Lower"])
        #expect(names.types == ["Shell", "InCondition"])
        #expect(names.members == ["Shell": ["open", "isThere", "count", "closed", "each"]])
    }

    @Test("are what is declared or bound elsewhere, so that a text says nothing of these")
    func others() {
        let others = [
            "state", "place", "hand", "found", "key", "value", "first", "second", "method", "inner", "hidden", "text",
            "another",
        ]
        #expect(names.others.isSuperset(of: others))
        #expect(names.others.isDisjoint(with: ["open", "isThere", "count", "closed", "each", "find", "use", "work"]))
    }

    @Test("are left out in comments and strings")
    func strings() {
        #expect(names.all.isDisjoint(with: ["inComment", "quoted", "inText"]))
        #expect(names.all.isSuperset(of: ["find", "use", "print", "pairs", "Place"]))
    }
}
