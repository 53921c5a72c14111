// What the page speaks of without showing it.
import Pippin

struct Account: CoreModel {
    let id: Int
    var balance: Int
}

struct Declined: Error {}

let manager = PersistenceManager(models: Account.self)
