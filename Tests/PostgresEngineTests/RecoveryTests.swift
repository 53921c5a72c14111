import PostgresEngine
import Testing

@Suite("What is done after a connection was lost")
struct RecoveryTests {
    /// What a recovery does for what happens, one event a second.
    private func actions(_ recovery: Recovery, _ events: [Recovery.Event]) -> [Recovery.Action] {
        var recovery = recovery
        var actions = [recovery.begin()]
        for (index, event) in events.enumerated() { actions.append(recovery.next(event, after: .seconds(index + 1))) }
        return actions
    }

    @Test("What was not asked to be committed is done again on the next connection")
    func notCommitted() {
        let recovery = Recovery(.none, deadline: .seconds(30))
        #expect(actions(recovery, [.connected]) == [.connect, .end(.undone)])
    }

    @Test("Servers are looked for again and again, with longer pauses")
    func pauses() {
        let recovery = Recovery(.none, deadline: .seconds(30))
        let refused = Recovery.Event.refused(passes: true)
        #expect(
            actions(recovery, [refused, .waited, refused, .waited, refused, .waited, .connected]) == [
                .connect, .wait(.milliseconds(50)), .connect, .wait(.milliseconds(100)), .connect,
                .wait(.milliseconds(200)), .connect, .end(.undone),
            ])
    }

    @Test("A save in doubt is asked for, and is there")
    func saved() {
        let recovery = Recovery(.commit(hasMark: true), deadline: .seconds(30))
        #expect(actions(recovery, [.connected, .answered(isSaved: true)]) == [.connect, .ask, .end(.saved)])
    }

    @Test("A save in doubt is asked for, and is not there")
    func undone() {
        let recovery = Recovery(.commit(hasMark: true), deadline: .seconds(30))
        #expect(actions(recovery, [.connected, .answered(isSaved: false)]) == [.connect, .ask, .end(.undone)])
    }

    @Test("The question is asked again when its connection is lost, too")
    func lostAgain() {
        let recovery = Recovery(.commit(hasMark: true), deadline: .seconds(30))
        #expect(
            actions(recovery, [.connected, .lost, .waited, .connected, .answered(isSaved: true)]) == [
                .connect, .ask, .wait(.milliseconds(50)), .connect, .ask, .end(.saved),
            ])
    }

    @Test("A save is never called saved or undone without an answer", arguments: [1, 2, 3, 4, 5, 6, 7])
    func neverWithoutAnswer(seed: UInt64) {
        var state = seed
        func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        for _ in 0..<500 {
            var recovery = Recovery(.commit(hasMark: true), deadline: .seconds(20))
            var action = recovery.begin()
            var answer: Bool?
            for second in 0..<60 {
                let events: [Recovery.Event] = [.connected, .refused(passes: true), .lost, .waited]
                var event = events[random(events.count)]
                if action == .ask, random(3) == 0 {
                    answer = random(2) == 0
                    event = .answered(isSaved: answer == true)
                }
                action = recovery.next(event, after: .seconds(second))
                if case .end(let verdict) = action {
                    switch verdict {
                    case .saved: #expect(answer == true)
                    case .undone: #expect(answer == false)
                    case .undecided: #expect(answer == nil)
                    case .unreachable: Issue.record("a save in doubt is undecided, not unreachable")
                    }
                    break
                }
            }
        }
    }

    @Test("A store that keeps no marks cannot be asked")
    func noMark() {
        #expect(actions(Recovery(.commit(hasMark: false), deadline: .seconds(30)), []) == [.end(.undecided)])
    }

    @Test("The last pause ends at the deadline, and what was asked to be committed is undecided then")
    func deadline() {
        let recovery = Recovery(.commit(hasMark: true), deadline: .milliseconds(2020))
        let refused = Recovery.Event.refused(passes: true)
        #expect(
            actions(recovery, [refused, refused, .waited, refused]) == [
                .connect, .wait(.milliseconds(50)), .wait(.milliseconds(20)), .connect, .end(.undecided),
            ])
    }

    @Test("A wrong password does not become right by waiting")
    func refusedForGood() {
        #expect(
            actions(Recovery(.none, deadline: .seconds(30)), [.refused(passes: false)])
                == [.connect, .end(.unreachable)])
        #expect(
            actions(Recovery(.commit(hasMark: true), deadline: .seconds(30)), [.refused(passes: false)])
                == [.connect, .end(.undecided)])
    }
}
