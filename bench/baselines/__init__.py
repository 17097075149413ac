"""The systems that Caesura is compared with, each as its own users would run it."""
