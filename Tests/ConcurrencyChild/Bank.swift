import Foundation
import Pippin

/// An account of the bank that several processes work on.
package struct Account: CoreModel {
    package let uid: Int
    package var balance: Int
}

/// How many increments there were.
package struct Counter: CoreModel {
    package let uid: String
    package var count: Int
}

/// What one process did.
package struct Entry: CoreModel {
    package let uid: String
    package var amount: Int
}

/// Several processes that transfer money between accounts, count, and keep a journal, all at the same time.
package struct Bank {
    package static let accounts = 5
    package static let startingBalance = 1000

    package let manager: PersistenceManager

    /// Opens the bank's store.
    package init(at url: URL) throws {
        manager = PersistenceManager(models: Account.self, Counter.self, Entry.self, name: "Bank", store: .file(url))
    }

    /// Fills a new bank.
    package func found() throws {
        try manager.writeAndWait { access in
            try access.save((0..<Self.accounts).map { Account(uid: $0, balance: Self.startingBalance) })
            try access.save(Counter(uid: "all", count: 0))
        }
    }

    /// Does so many things of each kind, with pauses in the middle of some.
    ///
    /// - Returns: how many increments are saved.
    package func work(rounds: Int, name: String) throws -> Int {
        var increments = 0
        for round in 0..<rounds {
            switch Int.random(in: 0..<4) {
            case 0:
                try increment()
                increments += 1
            case 1: try transfer()
            case 2: try book("\(name)-\(round)")
            default: try audit()
            }
            if Bool.random() { usleep(.random(in: 0..<3_000)) }
        }
        return increments
    }

    private func pause() { if Bool.random() { usleep(.random(in: 0..<3_000)) } }

    private func increment() throws {
        try manager.writeAndWait { access in
            guard var counter = try access.find(Counter.self, id: "all") else { throw BankError.missing }
            pause()
            counter.count += 1
            try access.save(counter)
        }
    }

    private func transfer() throws {
        let places = (0..<Self.accounts).shuffled()
        try manager.writeAndWait { access in
            guard var from = try access.find(Account.self, id: places[0]) else { throw BankError.missing }
            pause()
            guard var to = try access.find(Account.self, id: places[1]) else { throw BankError.missing }
            let amount = min(from.balance, .random(in: 1...500))
            from.balance -= amount
            to.balance += amount
            pause()
            try access.save([from, to])
        }
    }

    /// A block that decides by what it does not change: the journal says what was there.
    private func book(_ uid: String) throws {
        try manager.writeAndWait { access in
            let count = try access.count(Entry.self)
            pause()
            try access.save(Entry(uid: uid, amount: count))
        }
    }

    /// A block never sees the middle of another one's transfer, not even one that is to be run again.
    private func audit() throws {
        try manager.writeAndWait { access in
            var sum = 0
            for place in 0..<Self.accounts {
                guard let account = try access.find(Account.self, id: place) else { throw BankError.missing }
                sum += account.balance
                pause()
            }
            guard sum == Self.accounts * Self.startingBalance else { throw BankError.unbalanced(sum) }
        }
    }
}

/// What must not happen in the bank.
package enum BankError: Error {
    case missing
    case unbalanced(Int)
}
