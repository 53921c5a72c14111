// What the page speaks of without showing it.
import PippinRecords

let users: [User] = []
let manager = PersistenceManager(models: User.self)
