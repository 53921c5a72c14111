import PostgresEngine
import Testing

@Suite("Work whose connection is lost again and again")
struct LostWorkTests {
    @Test("is repeated at once after the first loss, then with longer pauses, and at last given up")
    func pauses() {
        var work = LostWork(deadline: .seconds(5))
        #expect(work.next(after: nil) == .zero)
        #expect(work.next(after: .milliseconds(10)) == .milliseconds(50))
        #expect(work.next(after: .milliseconds(100)) == .milliseconds(100))
        for _ in 0..<4 { _ = work.next(after: .seconds(1)) }
        #expect(work.next(after: .seconds(2)) == .milliseconds(500))
        #expect(work.next(after: .milliseconds(4990)) == .milliseconds(10))
        #expect(work.next(after: .seconds(5)) == nil)
    }

    @Test("is repeated once without a deadline")
    func once() {
        var work = LostWork(deadline: .zero)
        #expect(work.next(after: nil) == .zero)
        #expect(work.next(after: .zero) == nil)
    }
}
