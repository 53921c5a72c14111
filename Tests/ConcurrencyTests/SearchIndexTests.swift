import ConcurrencyChild
import Foundation
import Pippin
import TestSupport
import Testing

@Suite("The full-text index of a file whose programs are killed", .ownThread)
struct SearchIndexTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// What the index finds is what the texts say.
    private func check(_ comment: Comment) throws {
        let manager = Tales.manager(at: folder.store)
        let all = try manager.readAndWait { try $0.fetch(Tales.Tale.self) }
        for word in Tales.words {
            let found = try Tales.found(word, in: manager)
            let wanted = all.filter { $0.title.split(separator: " ").contains(Substring(word)) }.map(\.uid)
            #expect(found.sorted() == wanted.sorted(), comment)
        }
        // It was searched by the index, and not by comparing texts.
        #expect(try plainNumbers("SELECT count(*) FROM PIPPIN_SEARCHED_TALE", in: folder.store) == [all.count], comment)
    }

    @Test("An index finds what a new one finds, however a save or a rebuild was cut short")
    func killed() throws {
        let rounds = ProcessInfo.processInfo.environment["PIPPIN_KILL_ROUNDS"].flatMap { Int($0) } ?? 6
        var random = SplitMix(state: 59)
        for round in 0..<rounds {
            // Every third time, the index has to be made anew first.
            if round % 3 == 2 { try execute("DROP TABLE PIPPIN_SEARCH_TALE", in: folder.store) }
            let child = try Child("tales", folder.store, round)
            var heard = child.hear()
            #expect(heard.hasPrefix("begun"))
            while round % 3 != 2, heard.split(separator: "\n").count < 5, child.process.isRunning {
                heard += child.hear()
            }
            usleep(UInt32.random(in: 0..<40_000, using: &random))
            kill(child.process.processIdentifier, SIGKILL)
            let complaint = child.wait().complaint
            #expect(complaint.isEmpty)
            try check("round \(round)")
        }
        #expect(try (plainNumber("SELECT count(*) FROM ZTALE", in: folder.store) ?? 0) > 20)
    }
}
