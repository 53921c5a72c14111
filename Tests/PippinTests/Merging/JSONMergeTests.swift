import Foundation
import TestSupport
import Testing

@testable import Pippin

@Suite("JSON that is merged")
struct JSONMergeTests {
    private func tree(_ text: String) throws -> JSONTree { try #require(JSONTree(Data(text.utf8))) }

    /// Merges what is wanted into what is stored. A type knows the members whose names do not begin with `new`, unless
    /// the test says what it knows.
    private func merged(_ stored: String, _ wanted: String, knowing known: String? = nil) throws -> String {
        let stored = try tree(stored)
        var merge = JSONMerge()
        let result = merge.merged(stored, try known.map(tree) ?? stored.withoutNew, try tree(wanted))
        return merge.lost.isEmpty ? result.text : "lost " + merge.lost.joined(separator: ", ")
    }

    @Test(
        "keeps its unknown members, by key and by element",
        arguments: [
            (#"{"a":1,"new":2}"#, #"{"a":3}"#, #"{"a":3,"new":2}"#),
            (#"{"a":1,"b":{"new":2,"x":1}}"#, #"{"b":{"x":2}}"#, #"{"b":{"new":2,"x":2}}"#),
            (#"{"a":{"new":2,"x":1}}"#, #"{"b":{"x":1}}"#, #"{"b":{"x":1}}"#),
            (
                #"[{"t":"a","new":1},{"t":"b","new":2}]"#, #"[{"t":"a"},{"t":"c"}]"#,
                #"[{"new":1,"t":"a"},{"new":2,"t":"c"}]"#
            ),
            (#"[{"t":"a","new":1},{"t":"b","new":2}]"#, #"[{"t":"b"}]"#, #"[{"new":2,"t":"b"}]"#),
            (
                #"[{"t":"a","new":1},{"t":"b","new":2}]"#, #"[{"t":"x"},{"t":"b"},{"t":"a"}]"#,
                #"[{"t":"x"},{"new":2,"t":"b"},{"new":1,"t":"a"}]"#
            ),
            (
                #"[{"id":1,"new":1,"t":"a"},{"id":2,"new":2,"t":"b"}]"#, #"[{"id":2,"t":"x"},{"id":3,"t":"a"}]"#,
                #"[{"id":2,"new":2,"t":"x"},{"id":3,"t":"a"}]"#
            ),
            (
                #"["k",{"new":2,"t":1},"l",{"new":3,"t":1}]"#, #"["l",{"t":1},"k",{"t":4}]"#,
                #"["l",{"new":3,"t":1},"k",{"new":2,"t":4}]"#
            ),
            (
                #"[[{"new":1,"t":1}],[{"new":2,"t":2}]]"#, #"[[{"t":1}],[{"t":3},{"t":2}]]"#,
                #"[[{"new":1,"t":1}],[{"t":3},{"new":2,"t":2}]]"#
            ),
            (#"{"a":1.50,"b":"\/"}"#, #"{"a":1.50,"b":"x"}"#, #"{"a":1.50,"b":"x"}"#),
        ])
    func kept(stored: String, wanted: String, expected: String) throws {
        #expect(try merged(stored, wanted) == expected)
    }

    @Test(
        "keeps what a type makes something else of",
        arguments: [
            ("[3,1,1]", "[1,3]", "[1,3,5]", "[3,1,1,5]"), ("[3,1,1]", "[1,3]", "[3]", "[3]"),
            ("[9007199254740993,1]", "[9007199254740992,1]", "[9007199254740992,1.5]", "[9007199254740993,1.5]"),
            (
                #"[{"a":1},{"q":2},{"a":3}]"#, #"[{"a":1},{"a":3}]"#, #"[{"a":1},{"a":4}]"#,
                #"[{"a":1},{"q":2},{"a":4}]"#
            ),
            (#"[{"q":2},{"a":3}]"#, #"[{"a":3}]"#, "[]", #"[{"q":2}]"#),
            (#"{"old":"x"}"#, #"{"name":"x"}"#, #"{"name":"y"}"#, #"{"name":"y","old":"x"}"#),
        ])
    func other(stored: String, known: String, wanted: String, expected: String) throws {
        #expect(try merged(stored, wanted, knowing: known) == expected)
    }

    @Test(
        "names what it cannot keep",
        arguments: [
            (
                #"[{"t":"a","new":1},{"t":"b","new":2},{"t":"c","new":3}]"#,
                #"[{"t":"a"},{"t":"x"},{"t":"y"},{"t":"c"}]"#,
                "lost [1].new"
            ),
            (#"{"s":[{"t":"a","new":1},{"t":"a","new":2}]}"#, #"{"s":[{"t":"a"}]}"#, "lost s[0].new, s[1].new"),
            (
                #"[{"t":"ab","new":1,"x":1},{"t":"b","x":2}]"#, #"[{"t":"b","x":2},{"t":"ab","x":3}]"#, "lost [0].new"
            ),
        ])
    func lost(stored: String, wanted: String, expected: String) throws {
        #expect(try merged(stored, wanted) == expected)
    }

    @Test("reads its text as it is, and nothing else")
    func reading() throws {
        for text in [#"{"a\n":[1.0,-0,1e400,"é\u00e9\/",null,true,false,{}],"b":[]}"#, "3", #""x""#, "[[[]]]"] {
            #expect(try tree(text).text == text)
        }
        #expect(try tree(" { \"b\" : 1 ,\n\"a\":[ ] } ").text == #"{"a":[],"b":1}"#)
        for text in ["", "{", "[1,]", "{\"a\"}", "nan", "tru", "[1 2]", "\"", "\u{0}"] {
            #expect(JSONTree(Data(text.utf8)) == nil, "\(text)")
        }
        #expect(JSONTree(Data(String(repeating: "[", count: 100_000).utf8)) == nil)
    }

    @Test("is what is wanted in everything that the type knows, unless something is lost", arguments: 1...8)
    func generated(seed: Int) {
        var made = MadeJSON(seed: seed)
        var lost = 0
        for _ in 0..<2_000 {
            let stored = made.value(3)
            let known = stored.withoutNew
            let wanted = made.edited(known)
            var merge = JSONMerge()
            let result = merge.merged(stored, known, wanted)
            if known == wanted { #expect(result == stored && merge.lost.isEmpty) }
            guard merge.lost.isEmpty else {
                lost += 1
                #expect(stored != known, "\(stored.text) \(wanted.text) \(merge.lost)")
                continue
            }
            #expect(result.withoutNew == wanted, "\(stored.text) \(wanted.text)")
            if stored == known { #expect(result == wanted) }
        }
        #expect(lost < 200)
    }

    @Test("takes a moment for long lists")
    func long() throws {
        let elements = (0..<20_000).map { #"{"new":\#($0),"t":"\#($0)"}"# }
        let stored = try tree("[\(elements.joined(separator: ","))]")
        guard case .list(var list) = stored.withoutNew else { return }
        list[700] = try tree(#"{"t":"x"}"#)
        list.insert(try tree(#"{"t":"y"}"#), at: 900)
        list.reverse()
        var merge = JSONMerge()
        var result = stored
        let time = processorTime { result = merge.merged(stored, stored.withoutNew, .list(list)) }
        #expect(merge.lost.isEmpty && result.withoutNew == .list(list))
        #expect(time < 20)
    }
}

extension JSONTree {
    fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Without the members whose names begin with `new`.
    fileprivate var withoutNew: JSONTree {
        switch self {
        case .leaf: return self
        case .list(let elements): return .list(elements.map(\.withoutNew))
        case .object(let members):
            return .object(
                members.filter { !$0.key.starts(with: "new".utf8) }
                    .map { Member(key: $0.key, text: $0.text, value: $0.value.withoutNew) })
        }
    }
}

/// Values and changes of them; the same for the same seed.
private struct MadeJSON {
    private var random: SplitMix

    init(seed: Int) { random = SplitMix(state: UInt64(seed)) }

    private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func value(_ depth: Int) -> JSONTree {
        switch below(depth > 0 ? 6 : 3) {
        case 0: .leaf(Array("\(below(4))".utf8))
        case 1: .leaf(Array("\"\(["a", "b", "c"][below(3)])\"".utf8))
        case 2: .leaf(Array(["null", "true", "1.5"][below(3)].utf8))
        case 3: .list((0..<below(5)).map { _ in value(depth - 1) })
        default:
            .object(
                ["id", "a", "b", "new1", "new2"].shuffled(using: &random).prefix(below(6)).map { key in
                    JSONTree.Member(key: Array(key.utf8), text: Array("\"\(key)\"".utf8), value: value(depth - 1))
                })
        }
    }

    mutating func edited(_ tree: JSONTree) -> JSONTree {
        if below(10) == 0 { return value(2).withoutNew }
        switch tree {
        case .leaf: return below(4) == 0 ? value(0) : tree
        case .list(var elements):
            elements = elements.map { edited($0) }
            if below(4) == 0, !elements.isEmpty { elements.remove(at: below(elements.count)) }
            if below(4) == 0 { elements.insert(value(2).withoutNew, at: below(elements.count + 1)) }
            if below(6) == 0 { elements.shuffle(using: &random) }
            return .list(elements)
        case .object(var members):
            members = members.map { JSONTree.Member(key: $0.key, text: $0.text, value: edited($0.value)) }
            if below(5) == 0, !members.isEmpty { members.remove(at: below(members.count)) }
            return .object(members)
        }
    }
}
