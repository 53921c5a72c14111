// What the page speaks of without showing it.
import Pippin

let books: [Book] = []
