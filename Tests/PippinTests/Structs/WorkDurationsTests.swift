import TestSupport
import Testing

@testable import Pippin

@Suite("Which work is done on the thread of its task")
struct WorkDurationsTests {
    private let times = WorkDurations()
    private let count = WorkKind(.question, of: Int.self, result: Int.self)
    private let list = WorkKind(.question, of: Int.self, result: [Int].self)

    @Test("Any work is, as long as none took long")
    func none() { #expect(times.areShort(count) && times.areShort(list)) }

    @Test("Work of a kind that took long is not, and other work is")
    func long() {
        times.note(list, .milliseconds(5))
        #expect(!times.areShort(list))
        #expect(times.areShort(count))
        #expect(times.areShort(WorkKind(.change, of: Int.self, result: [Int].self)))
    }

    @Test("A kind that took long is done there again once sixteen in a row were short")
    func again() {
        times.note(list, .milliseconds(5))
        for _ in 0..<15 { times.note(list, .microseconds(50)) }
        #expect(!times.areShort(list))
        times.note(list, .microseconds(50))
        #expect(times.areShort(list))
    }

    @Test("A long one among the short ones starts the count anew")
    func interrupted() {
        times.note(list, .milliseconds(5))
        for _ in 0..<15 { times.note(list, .microseconds(50)) }
        times.note(list, .milliseconds(5))
        for _ in 0..<15 { times.note(list, .microseconds(50)) }
        #expect(!times.areShort(list))
    }

    @Test("A kind that takes long again has to be short twice as often")
    func doubling() {
        times.note(list, .milliseconds(5))
        for _ in 0..<16 { times.note(list, .microseconds(50)) }
        times.note(list, .milliseconds(5))
        for _ in 0..<31 { times.note(list, .microseconds(50)) }
        #expect(!times.areShort(list))
        times.note(list, .microseconds(50))
        #expect(times.areShort(list))
    }

    @Test("A change may take long once, and not twice in a row")
    func changes() {
        let change = WorkKind(.change, of: Int.self, result: Void.self)
        times.note(change, .milliseconds(5))
        #expect(times.areShort(change))
        times.note(change, .microseconds(50))
        times.note(change, .milliseconds(5))
        #expect(times.areShort(change))
        times.note(change, .milliseconds(5))
        #expect(!times.areShort(change))
    }

    @Test("Work that throws counts as well, and its error arrives", .ownThread)
    func failure() {
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try times.timing(list) {
                usleep(2_000)
                throw Refused()
            }
        }
        #expect(!times.areShort(list))
    }
}
