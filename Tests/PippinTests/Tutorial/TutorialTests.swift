import Pippin
import TestSupport
import Testing

@Suite("The tutorial")
struct TutorialTests {
    private let folder: TestFolder
    private var file: URL { folder.file("readinglist.sqlite") }

    init() throws { folder = try TestFolder() }

    @Test("runs, step by step, and over the change of its structs")
    func runs() async throws {
        typealias Book = LaterSteps.Book
        typealias Note = LaterSteps.Note
        let first = try await FirstSteps.steps.open(file)
        try await FirstSteps.steps.stock(first)
        #expect(try await FirstSteps.steps.thinBooks(first).map(\.title) == ["Emma", "Programming Pearls"])
        try await FirstSteps.steps.tidyUp(first)

        let manager = PersistenceManager(models: Book.self, Note.self, store: .file(file))
        try await manager.load()
        var emma = try #require(try await manager.find(Book.self, id: "emma"))
        #expect(emma == Book(id: "emma", title: "Emma, a novel", pages: 474, author: nil, language: "English"))
        let note = Note(id: UUID(), book: Reference(emma), text: "Badly done", writtenAt: Date())
        try await manager.save(note)
        #expect(try await LaterSteps.steps.notes(on: emma, manager).map(\.text) == ["Badly done"])

        var shown: [[String]] = []
        try await LaterSteps.steps.follow(manager) { notes in
            shown.append(notes.map(\.text))
            return false
        }
        #expect(shown == [["Badly done"]])
        emma.author = LaterSteps.Author(id: "austen", name: "Jane Austen")
        try await manager.save(emma)
        var sections: [[String]] = []
        try await LaterSteps.steps.shelves(manager) { update in
            sections.append(update.list.sections.map(\.name))
            return false
        }
        #expect(sections == [["Jane Austen", "Unknown"]])
    }

    @Test("has ten steps, whose code is the code that runs here")
    func code() throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let root = tests.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appendingPathComponent("Sources/Pippin/Pippin.docc/Tutorial.md"), encoding: .utf8)
        let steps = try String(contentsOf: tests.appendingPathComponent("TutorialSteps.swift"), encoding: .utf8)
        let manifest = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        #expect(article.components(separatedBy: "\n## ").count == 11)
        let blocks = article.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
        #expect(blocks.count == 10)
        for block in blocks.dropFirst() {
            for piece in block.components(separatedBy: "\n\n") where piece.first != " " {
                #expect(plain(steps).contains(plain(piece)), "not compiled: \(piece)")
            }
        }
        #expect(manifest.contains(#".library(name: "Pippin", targets: ["Pippin"])"#))
    }

    @Test("The README has at most 120 lines and 900 words")
    func readme() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
        #expect(text.split(whereSeparator: \.isWhitespace).count <= 900)
    }

    /// A text without its indentation.
    private func plain(_ text: String) -> String {
        text.components(separatedBy: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")
    }
}
