import CoreData
import Foundation
import TestSupport
import Testing

@testable import MigrationChild
import SQLiteEngine

/// All points take minutes: `make test-faults`. Otherwise a few of each kind are tried, spread over all of the
/// migration.
private let triesAllPoints = ProcessInfo.processInfo.environment["PIPPIN_ALL_FAULTS"] != nil
private let fewPoints = 6

@Suite("Migrations that are killed, and disks that fail", .ownThread, .serialized)
final class MigrationFaultTests {
    private let folder: TestFolder
    private let child: ChildProcess
    private let original: URL
    private let document: URL

    init() throws {
        folder = try TestFolder()
        child = try ChildProcess(in: folder.url)
        original = folder.file("original/shelf.sqlite")
        document = folder.file("document/shelf.xml")
        for (verb, url) in [("make", original), ("make-document", document)] {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            let made = try child.run(verb, url)
            try #require(made.way == .succeeded, "\(made.errors)")
        }
    }

    @Test(
        "Whatever operation on files is the last one, or fails, the store is whole, as before or as after, and a second run completes",
        arguments: [("lightweight", 2), ("mapped", 2), ("portions", 2), ("progressive", 4)], Fault.Kind.allCases)
    func faults(_ migration: (verb: String, version: Int), _ kind: Fault.Kind) throws {
        try tryPoints(of: migration.verb, kind, original, content: StoreContent.rows) { store, isMigrated in
            try StoreContent.open(
                store, with: Bookshelf.model(isMigrated ? migration.version : 1), options: Bookshelf.options)
        }
    }

    @Test("An XML store, too, is as before or as after", arguments: Fault.Kind.allCases)
    func documents(_ kind: Fault.Kind) throws {
        // Its content is read by opening it.
        try tryPoints(of: "document", kind, document, content: DocumentContent.rows) { _, _ in }
    }

    /// Runs a migration as often as it has operations on files, and lets one after the other go wrong.
    ///
    /// - Parameters:
    ///   - verb: what the child process is to do.
    ///   - kind: how an operation goes wrong.
    ///   - original: the store, which is copied for each try.
    ///   - content: everything that is in a store.
    ///   - open: opens a store that was migrated, or was not.
    /// - Throws: what reading a store throws.
    private func tryPoints(
        of verb: String, _ kind: Fault.Kind, _ original: URL, content: (URL) throws -> [String],
        open: (_ store: URL, _ isMigrated: Bool) throws -> Void
    ) throws {
        let before = try content(original)
        let finished = try copy(original, "finished")
        let whole = try child.run(verb, finished)
        try #require(whole.way == .succeeded, "\(whole.errors)")
        let after = try content(finished)
        try #require(after != before)
        let count = try #require(whole.operations)
        let step = triesAllPoints ? 1 : max(1, count / fewPoints)
        var tried = 0
        for operation in stride(from: 1, through: count, by: step) {
            let place: Comment = "\(verb), \(kind.rawValue) at operation \(operation) of \(count)"
            let store = try copy(original, "fault")
            let end = try child.run(verb, store, Fault(kind: kind, operation: operation))
            tried += 1
            if case .crashed(let status) = end.way { Issue.record("\(place): crashed with \(status), \(end.errors)") }
            let now = try content(store)
            let (isBefore, isAfter) = (now == before, now == after)
            #expect(isBefore || isAfter, place)
            if end.way == .succeeded { #expect(isAfter, place) }
            // What fails when the store is migrated, such as opening it, does not undo that; but then nobody says so.
            if end.errors.contains("as it was") { #expect(isBefore, place) }
            try open(store, isAfter)
            let second = try child.run(verb, store)
            #expect(second.way == .succeeded, "\(place): \(second.errors)")
            let isComplete = try content(store) == after
            #expect(isComplete, place)
            #expect(try StoreContent.leftovers(of: store) == [], place)
        }
        print("\(verb), \(kind.rawValue): \(tried) of \(count) operations tried")
    }

    /// A copy of a store in a folder of its own.
    private func copy(_ original: URL, _ name: String) throws -> URL {
        let place = folder.file(name)
        if FileManager.default.fileExists(atPath: place.path) { try FileManager.default.removeItem(at: place) }
        try FileManager.default.copyItem(at: original.deletingLastPathComponent(), to: place)
        return place.appendingPathComponent(original.lastPathComponent)
    }
}
