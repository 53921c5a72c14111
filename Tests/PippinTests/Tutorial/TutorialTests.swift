import Foundation
import Testing

@Suite("The tutorial, whose programs Tests/Scripts/test-tutorial runs as printed")
struct TutorialTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The steps' texts.
    private func steps() throws -> [String] {
        Array(try text("Sources/Pippin/Pippin.docc/Tutorial.md").components(separatedBy: "\n## ").dropFirst())
    }

    /// The blocks of a kind in a text.
    private func blocks(_ kind: String, in text: String) -> [String] {
        text.components(separatedBy: "```\(kind)\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }

    @Test("has ten steps, each of which changes the program and what it prints")
    func steps10() throws {
        let steps = try steps()
        #expect(steps.count == 10)
        var known: Set<String> = []
        for step in steps {
            let printed = blocks("console", in: step).joined(separator: "\n").split(separator: "\n").filter {
                !$0.hasPrefix("$ ") && $0 != "…"
            }
            #expect(printed.contains { !known.contains(String($0)) }, "prints nothing new: \(step.prefix(40))")
            known.formUnion(printed.map(String.init))
            #expect(!blocks("swift", in: step).isEmpty, "has no code: \(step.prefix(40))")
        }
    }

    @Test("shows the store before and after the struct changes, and ends with a list that a second terminal changes")
    func endings() throws {
        let steps = try steps()
        #expect(blocks("console", in: steps[6]).joined().components(separatedBy: "$ pippin info").count == 3)
        let last = blocks("console", in: steps[9])
        #expect(last.count == 2 && last[0].hasPrefix("$ swift run readinglist watch\n"))
    }

    @Test("has a main that prints errors, and the package's name of the library")
    func main() throws {
        let first = blocks("swift", in: try steps()[0])
        #expect(first[0].contains(#".product(name: "Pippin", package: "Pippin")"#))
        #expect(try text("Package.swift").contains(#".library(name: "Pippin", targets: ["Pippin"])"#))
        #expect(first[1].contains("} catch {\n            print("))
    }

    @Test("The README has at most 120 lines and 900 words")
    func readme() throws {
        let text = try text("README.md")
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
        #expect(text.split(whereSeparator: \.isWhitespace).count <= 900)
    }
}
