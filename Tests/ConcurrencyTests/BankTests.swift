import ConcurrencyChild
import Foundation
import TestSupport
import Testing

/// `PIPPIN_CONCURRENCY_ROUNDS` says how many things each process does; by default as many as take a few seconds.
private let rounds = ProcessInfo.processInfo.environment["PIPPIN_CONCURRENCY_ROUNDS"].flatMap { Int($0) } ?? 60

@Suite("Several programs that write to one store", .ownThread)
struct BankTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test(
        "Eight processes that transfer, count and keep a journal under random delays lose nothing, and see no half of anything"
    )
    func bank() throws {
        let bank = try Bank(at: folder.store)
        try bank.found()
        let children = try (0..<8).map { _ in try Child("bank", folder.store, rounds) }
        var increments = 0
        for child in children {
            let end = child.wait()
            #expect(end.complaint == "")
            #expect(end.status == 0)
            increments += end.lines.compactMap { Int($0) }.reduce(0, +)
        }
        #expect(increments > 0)
        #expect(try plainNumbers("SELECT ZCOUNT FROM ZCOUNTER", in: folder.store) == [increments])
        let balance = Bank.accounts * Bank.startingBalance
        #expect(try plainNumbers("SELECT SUM(ZBALANCE) FROM ZACCOUNT", in: folder.store) == [balance])
        #expect(try plainNumbers("SELECT ZBALANCE FROM ZACCOUNT WHERE ZBALANCE < 0", in: folder.store) == [])
        // Each entry says how many there were when it was written: no two of them the same.
        let amounts = try plainNumbers("SELECT ZAMOUNT FROM ZENTRY ORDER BY ZAMOUNT", in: folder.store)
        #expect(amounts == Array(0..<amounts.count))
    }
}
