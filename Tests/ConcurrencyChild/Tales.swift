import Foundation
import Pippin

/// Texts that are searched, and a program that saves them without end.
package enum Tales {
    package struct Tale: CoreModel, Equatable {
        package let uid: Int
        package var title: String
        package var price = 0.0

        package static var schema: Schema<Tale> { Schema(.searchable(\.title)) }
    }

    package static let words = ["whale", "sea", "white", "boat", "鯨", "海", "кит", "élève", "harpoon", "island"]

    package static func manager(at url: URL) -> PersistenceManager {
        PersistenceManager(models: Tale.self, name: "Tales", store: .file(url))
    }

    /// The numbers of the texts with a word. Outside of a block, which brings the index up to date.
    package static func found(_ word: String, in manager: PersistenceManager) throws -> [Int] {
        let answer = Answer()
        Task.detached {
            do { answer.found = .success(try await manager.fetch(Tale.self, searching: word).map(\.uid)) } catch {
                answer.found = .failure(error)
            }
            answer.isThere.signal()
        }
        answer.isThere.wait()
        return try answer.found.get()
    }

    private final class Answer: @unchecked Sendable {
        // @unchecked Sendable: the task sets it before it signals, and it is read after that.
        var found = Result<[Int], any Error>.success([])
        let isThere = DispatchSemaphore(value: 0)
    }

    /// Searches, which makes a missing index, and then saves, changes and deletes at random.
    static func work(at url: URL, seed: Int, said: (String) -> Void) throws -> Never {
        var state = UInt64(truncatingIfNeeded: seed) &+ 1
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        func title() -> String { (0..<3).map { _ in words[random(words.count)] }.joined(separator: " ") }
        let manager = manager(at: url)
        said("begun")
        _ = try found("whale", in: manager)
        while true {
            try manager.writeAndWait { store in
                switch random(6) {
                case 0:
                    let uid = random(400)
                    try store.delete(Tale.self, where: \.uid == uid)
                case 1:
                    let (start, title) = (random(400), title())
                    try store.update(Tale.self, where: \.uid >= start && \.uid < start + 10) {
                        $0.set(\.title, to: title)
                    }
                case 2:
                    let start = random(400)
                    try store.update(Tale.self, where: \.uid >= start) { $0.set(\.price, to: 1) }
                default:
                    let start = random(400)
                    for uid in start..<start + 1 + random(20) { try store.save(Tale(uid: uid, title: title())) }
                }
            }
            said("saved")
        }
    }
}
