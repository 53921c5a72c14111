// What the page speaks of without showing it.
import PippinRecords

let people: [Person] = []
