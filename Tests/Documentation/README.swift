// What the page speaks of without showing it.
import Pippin

let books: [Book] = []
let file = URL(fileURLWithPath: "books.csv")
var progress: Progress { Progress(totalUnitCount: 1) }

func show(_ books: [Book]) {}
