import Pippin
import Testing

@Suite("What is done while a manager starts over")
struct BesideStartingOverTests {
    @Test("waits for the new store")
    func beside() async throws {
        let counter = try Counter(Coin.self)
        let manager = counter.manager
        let isDone = Locked(false)
        let readers = (0..<4).map { number in
            Task {
                var count = 0
                while !isDone.withLock({ $0 }) {
                    if number == 0 {
                        try await manager.save(Coin(code: "\(count)", worth: 1))
                    } else {
                        _ = try await manager.count(Coin.self)
                    }
                    count += 1
                }
            }
        }
        for _ in 0..<30 { try await manager.startOver() }
        isDone.withLock { $0 = true }
        for reader in readers { try await reader.value }
    }

    @Test("is refused once the store was destroyed")
    func destroyed() async throws {
        let counter = try Counter(Coin.self)
        try await counter.manager.destroy()
        let error = await #expect(throws: PersistenceError.self) { try await counter.manager.count(Coin.self) }
        #expect(error?.code == .notLoaded)
    }
}
