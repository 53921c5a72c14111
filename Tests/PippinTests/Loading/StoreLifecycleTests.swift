import Foundation
import Testing

@testable import Pippin

@Suite("The life cycle of a store, as a value")
struct StoreLifecycleTests {
    private let one = Thread()
    private let other = Thread()
    private let closed = StoreLifecycle()

    private func open(_ opener: StoreLifecycle.Opener) throws -> StoreLifecycle {
        try closed.opening(on: one).opened(by: opener)
    }

    private func destroyed() throws -> StoreLifecycle {
        try open(.use).destroying(on: one, startsOver: false).destroyed()
    }

    @Test("begins closed; a use opens the store, and closes it again if that fails")
    func use() throws {
        #expect(closed.state == .closed(isDestroyed: false))
        let opening = try closed.opening(on: one)
        #expect(opening.state == .opening(by: one, .usual))
        #expect(!opening.isOpen)
        #expect(opening.failed() == closed)
        let open = opening.opened(by: .use)
        #expect(open.state == .open(.use))
        #expect(try open.opening(on: other) == open)
    }

    @Test("is loaded once, after a use only without a plan")
    func loading() throws {
        let loading = try closed.loading(on: one, migrates: true)
        #expect(loading.state == .opening(by: one, .usual))
        let loaded = loading.opened(by: .load)
        #expect(loaded.state == .open(.load))
        #expect(throws: StoreLifecycle.Refusal.loaded) { try loaded.loading(on: one, migrates: false) }
        #expect(try open(.use).loading(on: one, migrates: false) == loaded)
        #expect(throws: StoreLifecycle.Refusal.loaded) { try open(.use).loading(on: one, migrates: true) }
    }

    @Test("knows the thread that opens or destroys the store, which must not wait for itself")
    func thread() throws {
        for life in [try closed.opening(on: one), try open(.load).destroying(on: one, startsOver: false)] {
            #expect(life.isInProgress(on: one))
            #expect(!life.isInProgress(on: other))
            for thread in [one, other] {
                #expect(throws: StoreLifecycle.Refusal.inProgress) { try life.opening(on: thread) }
                #expect(throws: StoreLifecycle.Refusal.inProgress) { try life.loading(on: thread, migrates: false) }
                #expect(throws: StoreLifecycle.Refusal.inProgress) { try life.destroying(on: thread, startsOver: true) }
            }
            #expect(!life.failed().isInProgress(on: one))
        }
        #expect(!closed.isInProgress(on: one))
        #expect(try !open(.use).isInProgress(on: one))
    }

    @Test("goes on after destruction only with load() or startOver()")
    func destroying() throws {
        let gone = try destroyed()
        #expect(gone.state == .closed(isDestroyed: true))
        #expect(throws: StoreLifecycle.Refusal.destroyed) { try gone.opening(on: one) }
        #expect(throws: StoreLifecycle.Refusal.destroyed) { try gone.destroying(on: one, startsOver: false) }
        let loading = try gone.loading(on: one, migrates: false)
        #expect(loading.state == .opening(by: one, .anew(startsOver: false)))
        // A store that may be created only after it was destroyed is looked for meanwhile.
        #expect(loading.isDestroyed)
        #expect(loading.failed() == gone)
        #expect(!loading.opened(by: .load).isDestroyed)
    }

    @Test("goes on with the next use if the store could not be destroyed")
    func destroyingFailed() throws {
        for startsOver in [false, true] {
            let life = try open(.load).destroying(on: one, startsOver: startsOver).failed()
            #expect(life.state == .closed(isDestroyed: false))
            #expect(try life.opening(on: one).state == .opening(by: one, .usual))
        }
        let life = try destroyed().destroying(on: one, startsOver: true)
        #expect(life.isDestroyed)
        #expect(life.failed().state == .closed(isDestroyed: true))
    }

    @Test("goes from destroying to opening on one thread, for a store that starts over")
    func startingOver() throws {
        for before in [closed, try open(.use), try open(.load), try destroyed()] {
            #expect(!before.isStartingOver)
            let destroying = try before.destroying(on: one, startsOver: true)
            #expect(destroying.isStartingOver)
            let opening = destroying.destroyed()
            #expect(opening.state == .opening(by: one, .anew(startsOver: true)))
            #expect(opening.isStartingOver)
            #expect(opening.opened(by: .load).state == .open(.load))
            #expect(opening.failed().state == .closed(isDestroyed: true))
            #expect(!opening.opened(by: .load).isStartingOver)
            #expect(!opening.failed().isStartingOver)
        }
        #expect(try !open(.use).destroying(on: one, startsOver: false).isStartingOver)
    }

    @Test("ends when the store is closed for good, unless a thread opens or destroys it")
    func ending() throws {
        for before in [closed, try open(.use), try open(.load), try destroyed()] {
            let ended = before.ending()
            #expect(ended.state == .ended)
            #expect(ended.closings == before.closings + 1)
            #expect(!ended.isOpen)
            #expect(ended.ending() == ended)
            #expect(ended.failed() == ended)
            #expect(throws: StoreLifecycle.Refusal.ended) { try ended.opening(on: one) }
            #expect(throws: StoreLifecycle.Refusal.ended) { try ended.loading(on: one, migrates: true) }
            for startsOver in [false, true] {
                #expect(throws: StoreLifecycle.Refusal.ended) {
                    try ended.destroying(on: one, startsOver: startsOver)
                }
            }
        }
        for before in [try closed.opening(on: one), try open(.load).destroying(on: one, startsOver: false)] {
            #expect(before.ending() == before)
        }
    }

    @Test("counts how often the store was closed, and closes it in the same step")
    func closings() throws {
        #expect(closed.closings == 0)
        let destroying = try open(.use).destroying(on: one, startsOver: true)
        #expect(destroying.closings == 1)
        #expect(!destroying.isOpen)
        #expect(destroying.destroyed().opened(by: .load).closings == 1)
        #expect(destroying.failed().closings == 1)
        #expect(try destroying.failed().destroying(on: one, startsOver: false).closings == 2)
    }

    @Test("is in no other state than those, and each can be reached")
    func states() {
        let steps: [(StoreLifecycle) throws -> StoreLifecycle] = [
            { try $0.opening(on: one) }, { try $0.loading(on: one, migrates: false) }, { $0.opened(by: .use) },
            { $0.opened(by: .load) }, { try $0.destroying(on: one, startsOver: false) },
            { try $0.destroying(on: one, startsOver: true) }, { $0.destroyed() }, { $0.failed() },
            { $0.ending() },
        ]
        var (found, waiting): ([StoreLifecycle.State], [StoreLifecycle]) = ([], [closed])
        while let life = waiting.popLast() {
            if found.contains(life.state) { continue }
            found.append(life.state)
            #expect(!(life.isOpen && (life.isDestroyed || life.isStartingOver || life.isInProgress(on: one))))
            waiting += steps.compactMap { try? $0(life) }
        }
        #expect(found.count == 11)
    }
}
