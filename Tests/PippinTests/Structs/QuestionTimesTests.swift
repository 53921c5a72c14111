import Testing

@testable import Pippin

@Suite("Which questions are answered on the thread of their task")
struct QuestionTimesTests {
    private let times = QuestionTimes()
    private let count = QuestionKind(question: Int.self, answer: Int.self)
    private let list = QuestionKind(question: Int.self, answer: [Int].self)

    @Test("Any, as long as none took long")
    func none() { #expect(times.areShort(count) && times.areShort(list)) }

    @Test("Those of a kind that took long are not, and others are")
    func long() {
        times.note(list, .milliseconds(5))
        #expect(!times.areShort(list))
        #expect(times.areShort(count))
    }

    @Test("A kind that took long is answered there again once it took a moment")
    func again() {
        times.note(list, .milliseconds(5))
        times.note(list, .microseconds(50))
        #expect(times.areShort(list))
    }

    @Test("A question that throws counts as well, and its error arrives")
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
